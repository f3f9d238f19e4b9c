// How the console looks, kept by the browser too, so that a page begins as it goes on.
export interface Look {
  theme: "system" | "light" | "dark";
  density: "comfortable" | "compact";
  reduced_motion: boolean;
}
const key = "workboard.look";

export function wear(look: Look) {
  const { dataset } = document.documentElement;
  if (look.theme === "system") delete dataset.theme;
  else dataset.theme = look.theme;
  dataset.density = look.density;
  dataset.motion = look.reduced_motion ? "less" : "full";
  localStorage.setItem(key, JSON.stringify({ theme: look.theme, density: look.density, reduced_motion: look.reduced_motion }));
}

export function wearLast() {
  try {
    const kept = localStorage.getItem(key);
    if (kept) wear(JSON.parse(kept) as Look);
  } catch {
    localStorage.removeItem(key);
  }
}

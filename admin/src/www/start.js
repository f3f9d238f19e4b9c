// Without this file the page reads just as well: it writes the server's real address into the
// samples, gives each a button to copy it, and shows the way on to whoever is signed in.
for (const address of document.querySelectorAll("pre b")) address.textContent = location.origin;

const status = document.createElement("p");
status.setAttribute("role", "status");
status.className = "unseen";
document.body.append(status);

for (const sample of navigator.clipboard ? document.querySelectorAll("pre") : []) {
  const frame = document.createElement("div");
  frame.className = "sample";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(sample.textContent);
    button.textContent = status.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
      status.textContent = "";
    }, 2000);
  });
  sample.replaceWith(frame);
  frame.append(sample, button);
}

// On a server without accounts nothing asks.
if (document.querySelector("[data-here]"))
  whoIsHere().then((user) => {
    for (const link of document.querySelectorAll("[data-here]"))
      link.hidden = (link.dataset.here === "yes") !== Boolean(user);
    return hideClosedSignUp();
  }).catch(() => {});

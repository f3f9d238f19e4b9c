// Without this file the page reads just as well: it writes the server's real address into the
// samples and gives each a button to copy it.
for (const address of document.querySelectorAll("pre b")) address.textContent = location.origin;

const status = document.createElement("p");
status.setAttribute("role", "status");
status.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
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

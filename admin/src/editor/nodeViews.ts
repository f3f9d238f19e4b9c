// What shows of each block, beyond what the schema says.
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView } from "prosemirror-view";
import { t } from "../app/words";
import { safeLink } from "../parts/markdownLines";
import { addressOf, captionOf } from "./files";
import type { Block } from "./model";
import { wholeWords } from "./schema";

/** The box of a to-do can be pressed; a table or a picture says what it is. */
export function lineView(node: Node, view: EditorView, at: () => number | undefined): NodeView {
  const type = node.attrs.type as string;
  const dom = document.createElement(({ heading_1: "h2", heading_2: "h3", heading_3: "h4", heading_4: "h5", quote: "blockquote" } as Record<string, string>)[type] ?? "p");
  dom.className = `line ${type}`;
  const contentDOM = document.createElement("span");
  const { props } = node.attrs as { props: { checked?: boolean; color?: string } };
  if (props.color && props.color !== "default") dom.dataset.color = props.color;
  if (type === "to_do") {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = Boolean(props.checked);
    box.disabled = !view.editable;
    box.contentEditable = "false";
    box.setAttribute("aria-label", node.textContent || t("to do"));
    box.addEventListener("change", () => {
      const place = at();
      if (place !== undefined) view.dispatch(view.state.tr.setNodeMarkup(place, undefined, { type, props: { ...props, checked: box.checked } }));
    });
    dom.classList.toggle("checked", box.checked);
    dom.append(box);
  }
  dom.append(contentDOM);
  return { dom, contentDOM, update: (next) => next.type === node.type && next.attrs.type === type && JSON.stringify(next.attrs.props) === JSON.stringify(props) };
}

interface TableRow { props: { cells: { plain_text?: string; text?: { content: string } }[][] } }

/** An uploaded picture; when its address has ended, its words. */
function pictureOf(dom: HTMLElement, address: string, caption: string): HTMLElement {
  const picture = document.createElement("img");
  Object.assign(picture, { src: address, alt: caption || t("Picture"), draggable: false });
  picture.onerror = () => picture.replaceWith(picture.alt);
  dom.append(picture);
  if (caption) dom.appendChild(document.createElement("p")).textContent = caption;
  return dom;
}

/** Where it is, if the server does not keep it. A picture from elsewhere is not fetched: whoever has it would know who reads. */
function elsewhere({ url, external, card_id }: { url?: string; external?: { url: string }; card_id?: string }): string | undefined {
  if (card_id) return `/cards/${card_id}`;
  const address = url ?? external?.url;
  return address && safeLink(address);
}

export function wholeView(node: Node): NodeView {
  const { type, props, below } = node.attrs as { type: string; props: Record<string, unknown>; below: Block[] };
  const dom = document.createElement("div");
  dom.className = `whole ${type}`;
  if (type === "divider") dom.append(document.createElement("hr"));
  else if (type === "table") {
    const table = dom.appendChild(document.createElement("table"));
    for (const { props: { cells } } of below as unknown as TableRow[]) {
      const line = table.insertRow();
      for (const cell of cells ?? []) line.insertCell().textContent = cell.map((run) => run.plain_text ?? run.text?.content ?? "").join("");
    }
  } else {
    const kept = addressOf(props);
    if (type === "image" && kept) return { dom: pictureOf(dom, kept, captionOf(props)) };
    const address = kept ?? elsewhere(props);
    const words = address ? document.createElement("a") : document.createElement("span");
    if (words instanceof HTMLAnchorElement) Object.assign(words, { href: address, target: "_blank", rel: "noopener noreferrer" });
    words.textContent = wholeWords(type, props);
    dom.append(words);
  }
  return { dom };
}

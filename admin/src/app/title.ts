import { useEffect, useRef } from "react";

let page = "Workboard";
let unread = 0;
const show = () => (document.title = unread ? `(${unread}) ${page}` : page);

/** How much is unread stands before the title, so that it shows on tabs. */
export function countUnread(count: number) {
  unread = count;
  show();
}

/** The page's title; a ref for its heading, which has the focus when the page was come to by a link. */
export function useTitle(title: string | undefined) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    page = title ? `${title} – Workboard` : "Workboard";
    show();
  }, [title]);
  return heading;
}

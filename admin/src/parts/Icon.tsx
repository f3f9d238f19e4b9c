const paths = {
  boards: "M4 4h5v16H4zM10.5 4h4v10h-4zM16 4h4v7h-4z",
  queue: "M4 6h12M4 12h9M4 18h6M17 11v8m0 0 3-3m-3 3-3-3",
  agent: "M6 8h12v9H6zM12 8V4m-3 9h.01M15 13h.01M3 12v2m18-2v2M9 20h6",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5c1.8.9 3 2.8 3 5.5",
  hook: "M9 15.5a4 4 0 1 1-4-4M12 7a3.5 3.5 0 1 1 3.4 4.4L13 16m3 3.5h-7",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  mail: "M3 6h18v12H3zM3 7l9 6 9-6",
  record: "M6 3h9l4 4v14H6zM9 11h7M9 15h7M9 7h3",
  bin: "M5 7h14M10 7V4h4v3m-7 0 1 13h8l1-13M10 11v5m4-5v5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c0-4 3.4-6.5 7.5-6.5s7.5 2.5 7.5 6.5",
  inbox: "M4 13 6.5 5h11L20 13v6H4zM4 13h5l1.5 2.5h3L15 13h5",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  check: "M5 12.5l4.5 4.5L19 7.5",
  down: "M6 9l6 6 6-6",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  filter: "M4 5h16l-6 7.5V19l-4-2v-4.5z",
  lanes: "M4 4h16v6H4zM4 14h16v6H4zM10 4v6m5 4v6",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4m8-4v4",
  comment: "M4 5h16v11H10l-4.5 4V16H4z",
  text: "M5 6h14M5 11h14M5 16h9",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6L12 7.2M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6L12 16.8",
  block: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM6 6l12 12",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.5v15l12-7.5z",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  gear: "M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM12 2.5v3m0 13v3M2.5 12h3m13 0h3M5.3 5.3l2.1 2.1m9.2 9.2 2.1 2.1M5.3 18.7l2.1-2.1m9.2-9.2 2.1-2.1",
  share: "M12 15V4m0 0L8 8m4-4 4 4M5 13v7h14v-7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  expand: "M4 10V4h6M20 14v6h-6M4 4l6 6M20 20l-6-6",
  eye: "M2.5 12C5 7.5 8.2 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-5.7 6.5-9.5 6.5S5 16.5 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  flag: "M6 21V4h11l-2 4 2 4H6",
} as const;

export type IconName = keyof typeof paths;

/** A drawing that says nothing by itself: words stand beside it or in the button's name. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={name === "more" ? 3 : 1.8}
      strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" style={{ flex: "none" }}>
      <path d={paths[name]} />
    </svg>
  );
}

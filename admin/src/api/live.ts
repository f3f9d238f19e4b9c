// One stream of events for the tab (docs/events.md): it connects again by itself, goes on where it
// ended, and says whether what is shown may be out of date.
import type { Schemas } from "./client";
import { tabOrg } from "./workspace";

export type Event = Schemas["EventEnvelope"];
export interface Present {
  id: string;
  name: string | null;
  principal_type?: string;
}
export interface Follower {
  board?: string;
  kinds?: string[];
  /** Of the last event that is known; what comes next begins after it. */
  after?: number;
  event(event: Event): void;
  /** It is heard from now on: what was read before may be older than that. Without `after` only. */
  begun?(): void;
  /** Events were missed that are no longer kept: load again. */
  gap?(): void;
  presence?(present: Present[], total: number): void;
  /** It is not for the caller any more, or is refused. */
  error?(message: string): void;
}
export type LiveState = "off" | "connecting" | "live" | "lost";

const first = 500;
const longest = 30_000; // milliseconds between attempts

class Live {
  private followers = new Map<string, Follower>();
  private socket: WebSocket | undefined;
  private pause = first;
  private timer = 0;
  private count = 0;
  private listeners = new Set<() => void>();
  private newsListeners = new Set<() => void>();
  state: LiveState = "off";

  constructor() {
    // The browser knows before any pause is over.
    window.addEventListener("online", () => {
      if (this.state === "lost" && this.followers.size && !this.socket) this.connect();
    });
    // A connection whose network is gone says nothing of it for minutes.
    window.addEventListener("offline", () => {
      const { socket } = this;
      if (!socket) return;
      socket.onclose = socket.onmessage = null;
      socket.close();
      this.again(0);
    });
  }

  follow(follower: Follower): () => void {
    const id = `s${++this.count}`;
    this.followers.set(id, follower);
    if (this.state === "live") this.subscribe(id, follower);
    else if (!this.socket) this.connect();
    return () => {
      this.followers.delete(id);
      if (this.state === "live") this.send({ type: "unsubscribe", id });
      if (this.followers.size === 0) this.close();
    };
  }

  /** Something is new for this person alone; what, has to be asked for. */
  onNews = (listener: () => void) => {
    this.newsListeners.add(listener);
    return () => void this.newsListeners.delete(listener);
  };
  onState = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  getState = () => this.state;

  /** Begins anew, in the tab's workspace of now. */
  restart() {
    this.close();
    for (const each of this.followers.values()) each.after = undefined;
    if (this.followers.size) this.connect();
  }

  private become(state: LiveState) {
    if (this.state === state) return;
    this.state = state;
    for (const each of this.listeners) each();
  }

  private close() {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = undefined;
    if (socket) socket.onclose = socket.onmessage = null;
    socket?.close();
    this.become("off");
  }

  private connect() {
    clearTimeout(this.timer); // who asks now does not wait for it, nor is connected twice
    const address = new URL("/v1/ws", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const org = tabOrg();
    if (org) address.searchParams.set("org_id", org);
    if (this.state !== "lost") this.become("connecting");
    const socket = (this.socket = new WebSocket(address));
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data as string));
    socket.onclose = ({ code }) => this.again(code);
  }

  private again(code: number) {
    this.socket = undefined;
    this.become("lost");
    if (code === 4401) return void window.dispatchEvent(new window.Event("workboard:signed-out"));
    if (!this.followers.size) return;
    this.timer = window.setTimeout(() => this.connect(), this.pause * (0.5 + Math.random()));
    this.pause = Math.min(2 * this.pause, longest);
  }

  private send(message: object) {
    this.socket?.send(JSON.stringify(message));
  }

  private subscribe(id: string, { board, kinds, after }: Follower) {
    this.send({ type: "subscribe", id, board_id: board, kinds, after });
  }

  private hear(message: { type: string; id?: string; [field: string]: unknown }) {
    if (message.type === "ready") {
      this.become("live");
      for (const [id, each] of this.followers) this.subscribe(id, each);
      return;
    }
    if (message.type === "notifications") {
      for (const each of this.newsListeners) each();
      return;
    }
    const follower = message.id && this.followers.get(message.id);
    if (!follower) return;
    if (message.type === "subscribed") {
      if (follower.after === undefined) follower.begun?.();
      follower.after = message.sequence as number;
      this.pause = first;
    } else if (message.type === "event") {
      const event = message.event as Event;
      follower.after = event.sequence;
      follower.event(event);
    } else if (message.type === "gap") follower.gap?.();
    else if (message.type === "presence") follower.presence?.(message.present as Present[], message.total as number);
    else if (message.type === "error") follower.error?.((message.error as { message?: string }).message ?? "");
  }
}

export const live = new Live();

// Follows a board: `on.event` gets each event once and in order, over lost connections and restarts
// of the server; `on.gap` is called when events that are no longer kept were missed, so that the
// page loads the board anew. On a page of the server itself the cookie signs in. Elsewhere
// `ticket` gets a ticket (POST /v1/ws-tickets) for each connection.
export function follow(server, board, on, { after, ticket, Socket = globalThis.WebSocket } = {}) {
  const first = 500, longest = 30_000; // milliseconds between attempts
  let last = after, pause = first, socket, stopped = false;

  async function connect() {
    const address = new URL("/v1/ws", server);
    address.protocol = address.protocol.replace("http", "ws");
    if (ticket) address.searchParams.set("ticket", await ticket());
    if (stopped) return;
    socket = new Socket(address.href);
    socket.onmessage = ({ data }) => hear(JSON.parse(data));
    socket.onclose = ({ code }) => (code === 4401 ? on.signedOut?.() : again());
  }

  function hear(message) {
    if (message.type === "ready")
      socket.send(JSON.stringify({ type: "subscribe", id: "board", board_id: board, after: last }));
    if (message.type === "subscribed") [last, pause] = [message.sequence, first];
    if (message.type === "gap") on.gap?.(message.oldest);
    if (message.type === "presence") on.presence?.(message.present);
    if (message.type === "error") on.error?.(message.error);
    if (message.type === "event") {
      last = message.event.sequence;
      on.event(message.event);
    }
  }

  function again() {
    if (stopped) return;
    setTimeout(() => connect().catch(again), pause * (0.5 + Math.random()));
    pause = Math.min(2 * pause, longest);
  }

  connect().catch(again);
  return () => ((stopped = true), socket?.close());
}

// Boards for tests, made by the interface: three columns, the cards in the first.

/** A board with cards of these titles: { board, columns, cards }. */
export async function makeBoard(owner, titles, more = {}) {
  const board = await owner.post("/v1/boards", { name: "Work", ...more });
  const columns = (await owner.get(`/v1/boards/${board.id}/columns`)).results;
  const cards = [];
  for (const title of titles) cards.push(await owner.post(`/v1/boards/${board.id}/cards`, { column_id: columns[0].id, title }));
  return { board, columns, cards };
}

/** The titles that the server has, column by column. */
export async function titlesOf(owner, board) {
  const { columns } = await owner.get(`/v1/boards/${board.id}/snapshot?page_size=100`);
  return columns.map(({ cards }) => cards.map(({ title }) => title));
}

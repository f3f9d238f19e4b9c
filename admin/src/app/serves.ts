// What this server has: the page says it, in a line of its head for each name (addresses.ts).
const found = new Set([...document.querySelectorAll<HTMLMetaElement>("meta[name=serves]")].map(({ content }) => content));

export const serves = (name: string | undefined) => name === undefined || found.has(name);

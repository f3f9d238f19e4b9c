// E-mail addresses in what somebody has written or pasted.
const wordsOf = (text: string) => text.split(/[\s<>,;"]+/);
const isAddress = (word: string) => /.@./.test(word);

/** Addresses in a text, however they are separated: `Ada <ada@example.com>, bob@example.com`. */
export const addressesIn = (text: string) => [...new Set(wordsOf(text).filter(isAddress))];

/** What looks as if an address was meant: `dan.example.com`, but not the name before one. */
export const mistakesIn = (text: string) => {
  const unnamed = text.split(/[,;>\n]/).map((part) => (part.includes("@", part.indexOf("<")) ? part.slice(part.indexOf("<") + 1) : part)).join("\n");
  return [...new Set(wordsOf(unnamed).filter((word) => /.\../.test(word) && !isAddress(word)))];
};

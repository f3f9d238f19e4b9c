// The console as people use it, in Chromium, against the real server. What each part is about stands in
// its file; they share a server and a browser, and go on side by side, each in a workspace of its own.
import { after, before, describe } from "node:test";

import accessibility from "./console/accessibility.mjs";
import answers from "./console/answers.mjs";
import board from "./console/board.mjs";
import boardKeys from "./console/board_keys.mjs";
import card from "./console/card.mjs";
import changes from "./console/changes.mjs";
import dialogs from "./console/dialogs.mjs";
import files from "./console/files.mjs";
import keys from "./console/keys.mjs";
import keysOutside from "./console/keys_outside.mjs";
import rooms from "./console/rooms.mjs";
import slow from "./console/slow.mjs";
import text from "./console/text.mjs";
import textKept from "./console/text_kept.mjs";
import together from "./console/together.mjs";
import values from "./console/values.mjs";
import { House } from "./support/console.mjs";

const house = new House();

// Who puts the mail out of order comes before those who read mails.
const lanes = [[keys, keysOutside, accessibility], [board, together], [card, rooms, files, dialogs, values], [slow, text, answers], [textKept, changes, boardKeys]];
describe("the console", { concurrency: lanes.length }, () => {
  before(() => house.open());
  after(() => house.close());
  for (const lane of lanes)
    describe("side by side", { concurrency: false }, () => lane.forEach((part) => part(house)));
});

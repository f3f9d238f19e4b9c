// Every page of the console on either screen, by daylight and in the dark. Part of `./test long`: what differs between
// these is seen in the short form, too.
import { after, before } from "node:test";

import accessibility, { everyLook } from "./console/accessibility.mjs";
import { House } from "./support/console.mjs";

const house = new House();
before(() => house.open());
after(() => house.close());
accessibility(house, everyLook);

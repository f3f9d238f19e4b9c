import { expect, test } from "vitest";
import { addressesIn, mistakesIn } from "../src/screens/members/addresses";

test("addresses are found however they are separated, and what was meant as one is named", () => {
  const text = 'J.R. Smith <jr@example.com>, eve@example.com dan.example.com\n"Acme.com" <sales@acme.com> Eve <eve@example.com>; frank@@example.com';
  expect(addressesIn(text)).toEqual(["jr@example.com", "eve@example.com", "sales@acme.com", "frank@@example.com"]);
  expect(mistakesIn(text)).toEqual(["dan.example.com"]);
  expect(mistakesIn("dan.example.com <")).toEqual(["dan.example.com"]);
});

test("a long text takes no longer than reading it", () => {
  for (const letters of ["a", "a ", "<", ".", "@"]) {
    const text = letters.repeat(1_000_000); // minutes, if each place looked through all that follows
    expect(addressesIn(text).length + mistakesIn(text).length).toBeLessThanOrEqual(1);
  }
});

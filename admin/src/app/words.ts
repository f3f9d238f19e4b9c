// What people read. The key of a text is the text itself in English, so code says what it shows;
// locales/en.json has the forms that depend on a number, and other languages a file each.
import i18next from "i18next";
import en from "../locales/en.json";

void i18next.init({
  lng: "en",
  fallbackLng: "en",
  keySeparator: false,
  nsSeparator: false,
  initAsync: false,
  showSupportNotice: false,
  resources: { en: { translation: en } },
  interpolation: { escapeValue: false },
} as Parameters<typeof i18next.init>[0]);

export const t = (key: string, values?: Record<string, unknown>): string => i18next.t(key, values ?? {});

/** A field of the interface by its name in words: "column_id" is "column". */
export const wordsOfField = (name: string) => t(name.replace(/_id$/, "").replace(/_/g, " "));

/** The languages that there are, besides English: a file each in locales/. */
const files = import.meta.glob<{ default: Record<string, string> }>(["../locales/*.json", "!../locales/en.json"]);
export const languages = ["en", ...Object.keys(files).map((path) => path.slice(path.lastIndexOf("/") + 1, -5))];

/** Speaks the language of a locale such as de-AT, where there is one. */
export async function speak(locale: string): Promise<void> {
  const language = locale.split("-")[0] ?? "en";
  const load = files[`../locales/${language}.json`];
  if (load && !i18next.hasResourceBundle(language, "translation"))
    i18next.addResourceBundle(language, "translation", (await load()).default);
  await i18next.changeLanguage(load ? language : "en");
}

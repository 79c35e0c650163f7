// Providers and keys in words.

import type { KeyPlace, Provider, Startup } from "../bridge";

interface About {
  label: string;
  /** Its usual address. */
  address: string;
  /** Under which name its key is kept; `null`: it needs none. */
  account: string | null;
}

export const PROVIDERS: Record<Provider, About> = {
  anthropic: { label: "Anthropic", address: "https://api.anthropic.com", account: "anthropic" },
  "openai-responses": { label: "OpenAI", address: "https://api.openai.com/v1", account: "openai" },
  openai: { label: "OpenAI-compatible server", address: "https://api.openai.com/v1", account: "openai" },
  demo: { label: "Demo: a script answers", address: "", account: null },
};

export function keyWords(place: KeyPlace | null): string {
  switch (place) {
    case "environment":
      return "The key is in the environment.";
    case "keychain":
      return "The key is in the system's keychain.";
    case "file":
      return "The key is in a file that only you can read.";
    case null:
      return "There is no key. Servers on this computer need none.";
  }
}

/** Where the model of a start was found. */
export function foundWords(about: Startup): string {
  if (about.local === true) return "on a server on this computer";
  switch (about.key ?? null) {
    case "environment":
      return "with the key in your environment";
    case "keychain":
      return "with the key in your keychain";
    case "file":
      return "with the key in your file of keys";
    case null:
      return "without a key";
  }
}

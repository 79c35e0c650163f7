// The model's settings for the recorded bridge: they can be looked at and changed, but nothing is asked.

import type { Bridge, KeyPlace, ModelSetup, Startup } from "../bridge";
import { PROVIDERS } from "./providers";

type Models = Pick<Bridge, "modelSetup" | "modelList" | "modelTest" | "modelSave" | "keyDelete">;

export function recordedModels(startup: Startup): Models {
  const keys = new Map<string, KeyPlace>();
  let about = startup;
  let baseUrl: string | null = null;
  const setup = (): ModelSetup => ({
    provider: about.provider,
    model: about.model,
    baseUrl,
    overriding: [],
    keys: ["anthropic", "openai"].map((account) => ({ account, place: keys.get(account) ?? null })),
    settingsFile: "/home/ada/.config/offshoot/settings.json",
    keyFile: "/home/ada/.config/offshoot/credentials.json",
    keychainProblem: null,
    local: [{ name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", models: [{ id: "qwen3:4b" }, { id: "gemma3:1b" }] }],
  });
  return {
    modelSetup: async () => setup(),
    modelList: async (wish) => setup().local.find((server) => server.baseUrl === wish.baseUrl)?.models ?? [],
    modelTest: async () => {
      throw { code: "not_applicable", message: "A recording asks nobody.", hint: "Open the program to do this for real." };
    },
    modelSave: async (wish, place) => {
      const account = PROVIDERS[wish.provider].account;
      if (account !== null && wish.key !== "") keys.set(account, place);
      baseUrl = wish.baseUrl === "" ? null : wish.baseUrl;
      about = { ...about, provider: wish.provider, model: wish.model, demo: wish.provider === "demo" };
      return about;
    },
    keyDelete: async (provider) => {
      keys.delete(PROVIDERS[provider].account ?? "");
      return about;
    },
  };
}

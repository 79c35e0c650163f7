import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { App } from "../app/App";
import type { ModelWish } from "../bridge";
import { recordedBridge } from "../bridge.recorded";
import { recording } from "../testing";

beforeEach(() => localStorage.clear());

async function openSettings() {
  const bridge = recordedBridge({ ...recording, startup: { ...recording.startup, project: null } }, { speed: 0 });
  render(() => <App bridge={bridge} />);
  fireEvent.click(await screen.findByRole("button", { name: "Set up a model…" }));
  const dialog = await screen.findByRole("dialog", { name: "Settings" });
  await within(dialog).findByRole("combobox", { name: "Provider" });
  return { bridge, dialog };
}

test("the first start says that a server was found", async () => {
  const bridge = recordedBridge({ ...recording, startup: { ...recording.startup, project: null } }, { speed: 0 });
  render(() => <App bridge={bridge} />);
  expect(await screen.findByText(/Ollama runs on this computer/)).toBeTruthy();
});

test("a server on this computer is one click, and a try shows what it said", async () => {
  const { bridge, dialog } = await openSettings();
  const tried: ModelWish[] = [];
  bridge.modelTest = async (wish) => {
    tried.push(wish);
    return { model: wish.model, text: "OK", milliseconds: 340 };
  };
  fireEvent.click(within(dialog).getByRole("button", { name: "Use Ollama on this computer" }));
  fireEvent.click(within(dialog).getByRole("button", { name: "Test" }));
  const status = await within(dialog).findByText(/qwen3:4b answers/);
  expect(status.textContent).toContain("“OK” after 0.3 s");
  expect(tried).toEqual([{ provider: "openai", baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3:4b", key: "" }]);
});

test("an error is shown with what to do, and nothing that was typed is lost", async () => {
  const { bridge, dialog } = await openSettings();
  bridge.modelTest = () => Promise.reject({ code: "failed", message: "The provider answered 401: no.", hint: "Correct the key." });
  fireEvent.change(within(dialog).getByRole("combobox", { name: "Provider" }), { target: { value: "anthropic" } });
  const key = within(dialog).getByLabelText<HTMLInputElement>("Key");
  expect(key.type).toBe("password");
  fireEvent.input(key, { target: { value: "sk-1" } });
  fireEvent.click(within(dialog).getByRole("button", { name: "Test" }));
  const alert = await within(dialog).findByRole("alert");
  expect(alert.textContent).toContain("The provider answered 401: no. Correct the key.");
  expect(key.value).toBe("sk-1");
});

test("saving keeps the key where it was chosen and changes the model at once", async () => {
  const { dialog } = await openSettings();
  fireEvent.change(within(dialog).getByRole("combobox", { name: "Provider" }), { target: { value: "openai-responses" } });
  fireEvent.input(within(dialog).getByLabelText("Model"), { target: { value: "gpt-x" } });
  fireEvent.input(within(dialog).getByLabelText("Key"), { target: { value: "sk-1" } });
  fireEvent.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(within(dialog).getByText("The key is in the system's keychain.")).toBeTruthy());
  expect(screen.getAllByText(/gpt-x/).length).toBeGreaterThan(0);
  expect(within(dialog).getByLabelText<HTMLInputElement>("Key").value).toBe("");
});

// Who answers new sessions: provider, address, model and key, with a try before they are saved.

import { For, Show, createMemo, createResource, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { asRejected, type KeyPlace, type LocalServer, type ModelWish, type Provider } from "../bridge";
import { Button } from "../parts/Button";
import { Select } from "../roles/Select";
import { keyWords, PROVIDERS } from "./providers";
import s from "./Model.module.css";

/** What came of the last try or save. */
type Outcome = { good: boolean; text: string; hint: string } | undefined;

export function Model(): JSX.Element {
  const app = useApp();
  const [setup, { refetch }] = createResource(() => app.bridge.modelSetup());
  return (
    <Show when={setup.error === undefined} fallback={<p class={s.bad} role="alert">{asRejected(setup.error).message}</p>}>
      <Show when={setup()} fallback={<p class={s.note}>Looking for models…</p>}>
        {(found) => {
          const [provider, setProvider] = createSignal<Provider>(found().provider);
          const [baseUrl, setBaseUrl] = createSignal(found().baseUrl ?? "");
          const [model, setModel] = createSignal(found().provider === "demo" ? "" : found().model);
          const [key, setKey] = createSignal("");
          const [place, setPlace] = createSignal<KeyPlace>(found().keychainProblem === null ? "keychain" : "file");
          const [busy, setBusy] = createSignal<string>();
          const [outcome, setOutcome] = createSignal<Outcome>();
          const about = createMemo(() => PROVIDERS[provider()]);
          const wish = (): ModelWish => ({ provider: provider(), baseUrl: baseUrl(), model: model(), key: key() });
          const kept = () => found().keys.find((entry) => entry.account === about().account)?.place ?? null;
          const [models, { refetch: listModels, mutate: setModels }] = createResource(async () => {
            if (provider() === "demo") return [];
            // A server that can't be asked has no list; the try says why.
            return app.bridge.modelList(wish()).catch(() => []);
          });

          const choose = (next: Provider, url: string, first: string) => {
            setProvider(next);
            setBaseUrl(url);
            setModel(first);
            setOutcome(undefined);
            setModels([]);
            void listModels();
          };
          const chooseLocal = (server: LocalServer) => choose("openai", server.baseUrl, server.models[0]?.id ?? "");
          const during = async (what: string, work: () => Promise<Outcome>) => {
            setBusy(what);
            setOutcome(undefined);
            try {
              setOutcome(await work());
            } catch (error) {
              const { message, hint } = asRejected(error);
              setOutcome({ good: false, text: message, hint });
            } finally {
              setBusy(undefined);
            }
          };
          const attempt = () =>
            during("Asking…", async () => {
              const tried = await app.bridge.modelTest(wish());
              const said = tried.text === "" ? "It answered without words" : `It said “${tried.text}”`;
              return { good: true, text: `${tried.model} answers. ${said} after ${(tried.milliseconds / 1000).toFixed(1)} s.`, hint: "" };
            });
          const save = () =>
            during("Saving…", async () => {
              app.setStartup(await app.bridge.modelSave(wish(), place()));
              setKey("");
              await refetch();
              return { good: true, text: "Saved. New sessions ask this model; sessions that are open keep theirs.", hint: "" };
            });
          const forget = () =>
            during("Deleting…", async () => {
              app.setStartup(await app.bridge.keyDelete(provider()));
              await refetch();
              return { good: true, text: "The key is deleted.", hint: "" };
            });

          return (
            <fieldset class={s.model}>
              <legend>Model</legend>
              <Show when={found().local.length > 0}>
                <div class={s.locals}>
                  <For each={found().local}>
                    {(server) => (
                      <Button small onClick={() => chooseLocal(server)}>
                        Use {server.name} on this computer
                      </Button>
                    )}
                  </For>
                </div>
              </Show>
              <div class={s.rows}>
                <label>Provider</label>
                <Select label="Provider" value={provider()} onChange={(value) => choose(value as Provider, "", "")}>
                  <For each={Object.entries(PROVIDERS)}>{([value, entry]) => <option value={value}>{entry.label}</option>}</For>
                </Select>
                <Show when={provider() !== "demo"}>
                  <label for="model-address">Address</label>
                  <input
                    id="model-address"
                    type="url"
                    spellcheck={false}
                    placeholder={about().address}
                    value={baseUrl()}
                    onInput={(event) => setBaseUrl(event.currentTarget.value)}
                    onChange={() => void listModels()}
                  />
                  <Show when={found().overriding.length > 0}>
                    <p class={s.note}>{found().overriding.join(", ")} is set in the environment and counts more than this.</p>
                  </Show>
                  <label for="model-name">Model</label>
                  <input
                    id="model-name"
                    list="model-names"
                    spellcheck={false}
                    placeholder="The usual one"
                    value={model()}
                    onInput={(event) => setModel(event.currentTarget.value)}
                  />
                  <datalist id="model-names">
                    <For each={models() ?? []}>{(entry) => <option value={entry.id}>{entry.name ?? entry.id}</option>}</For>
                  </datalist>
                  <Show when={(models() ?? []).length > 0}>
                    <p class={s.note}>The server has {models()?.length === 1 ? "one model" : `${models()?.length} models`}.</p>
                  </Show>
                  <label for="model-key">Key</label>
                  <input
                    id="model-key"
                    type="password"
                    autocomplete="off"
                    placeholder={kept() === null ? "None" : "Unchanged"}
                    value={key()}
                    onInput={(event) => setKey(event.currentTarget.value)}
                  />
                  <p class={s.note}>
                    {keyWords(kept())}
                    <Show when={kept() === "keychain" || kept() === "file"}>
                      <Button small kind="quiet" onClick={() => void forget()}>
                        Delete key
                      </Button>
                    </Show>
                  </p>
                  <Show when={key() !== ""}>
                    <label>Keep it in</label>
                    <Select label="Keep it in" value={place()} onChange={(value) => setPlace(value as KeyPlace)}>
                      <option value="keychain" disabled={found().keychainProblem !== null}>
                        The system's keychain
                      </option>
                      <option value="file">A file that only you can read</option>
                    </Select>
                    <p class={s.note}>
                      <Show when={place() === "file"} fallback="Only this program asks for it there.">
                        <Show when={found().keychainProblem}>{(problem) => <>{problem()} </>}</Show>
                        The key is written to {found().keyFile}.
                      </Show>
                    </p>
                  </Show>
                </Show>
              </div>
              <div class={s.actions}>
                <Button kind="primary" disabled={busy() !== undefined} onClick={() => void save()}>
                  Save
                </Button>
                <Show when={provider() !== "demo"}>
                  <Button disabled={busy() !== undefined} onClick={() => void attempt()}>
                    Test
                  </Button>
                </Show>
                <Show when={busy()}>{(what) => <span class={s.note} role="status">{what()}</span>}</Show>
              </div>
              <Show when={outcome()}>
                {(came) => (
                  <p class={came().good ? s.good : s.bad} role={came().good ? "status" : "alert"}>
                    {came().text} {came().hint}
                  </p>
                )}
              </Show>
            </fieldset>
          );
        }}
      </Show>
    </Show>
  );
}

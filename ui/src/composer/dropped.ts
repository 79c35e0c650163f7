// What is dropped on a message, or pasted into it, other than plain typing: files become text with their name, everything
// else says why it can't be taken. Nothing is ever opened in place of the window.

/** More of a file is not put into a message; an agent reads it by its path. */
export const LARGEST = 1_000_000;

export interface Taken {
  /** Texts with the name of the file that they came from. */
  files: { name: string; text: string }[];
  /** In words for people, one for each that was not taken. */
  problems: string[];
}

export async function takeFiles(files: readonly File[]): Promise<Taken> {
  const taken: Taken = { files: [], problems: [] };
  for (const file of files) {
    if (file.size > LARGEST) {
      taken.problems.push(`${file.name} is larger than 1 MB. Name its path instead: the agent reads it in parts.`);
      continue;
    }
    try {
      const text = asText(await file.arrayBuffer());
      if (text === undefined) taken.problems.push(`${file.name} is no text. Name its path instead.`);
      else taken.files.push({ name: file.name, text });
    } catch {
      taken.problems.push(`${file.name} can't be read; a folder can't be attached. Name its path instead.`);
    }
  }
  return taken;
}

function asText(content: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? undefined : text.replace(/\r\n?/g, "\n");
  } catch {
    return undefined;
  }
}

/** Whether a drag brings something that a message can take. */
export function isWelcome(transfer: DataTransfer | null): boolean {
  return transfer !== null && [...transfer.types].some((type) => type === "Files" || type === "text/plain");
}

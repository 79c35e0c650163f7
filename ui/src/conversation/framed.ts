// Takes apart what a model reads into what was asked and what the program wrote around it.

export interface Framed {
  /** What a person or a parent wrote. */
  text: string;
  /** What the program added, in order, without its tags. */
  frames: { title: string; text: string }[];
}

const TITLES: Record<string, string> = {
  "fork-directive": "Rules for a fork",
  "worktree-notice": "About its worktree",
  reminder: "Reminder",
  "conversation-summary": "Summary",
};

const FRAME = /<(fork-directive|worktree-notice|reminder|conversation-summary)(?: [^>]*)?>\n?([\s\S]*?)<\/\1>/g;

export function readFrames(source: string): Framed {
  const frames: Framed["frames"] = [];
  const text = source.replace(FRAME, (_, tag: string, body: string) => {
    frames.push({ title: TITLES[tag] ?? tag, text: body.trim() });
    return "";
  });
  return { text: text.trim(), frames };
}

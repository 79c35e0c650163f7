// Reads a task notification, which the core writes as text for the model, back into its fields.

export interface TaskNotification {
  taskId: string | undefined;
  status: string | undefined;
  description: string | undefined;
  summary: string;
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };

export function parseNotification(text: string): TaskNotification {
  const field = (name: string): string | undefined => {
    const match = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text);
    return match?.[1] === undefined ? undefined : unescape(match[1].trim());
  };
  return {
    taskId: field("task_id") ?? field("agent_id"),
    status: field("status"),
    description: field("description"),
    summary: field("summary") ?? unescape(text.replace(/<\/?[a-z_-]+>/g, "").trim()),
  };
}

function unescape(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

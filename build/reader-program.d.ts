/** Returns a plugin of rolldown and vite. */
export function readerProgram(): { name: string; load(id: string): Promise<{ code: string } | null> };

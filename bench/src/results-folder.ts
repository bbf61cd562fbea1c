import { fileURLToPath } from 'node:url';

/** Where the bench writes its results. Git ignores it. */
export const resultsFolder: string = fileURLToPath(new URL('../results/', import.meta.url));

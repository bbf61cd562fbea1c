/** The folder of this package. The path is the same from `src/` and from `dist/`, where the modules are bundled. */
export const packageFolder: URL = new URL('../', import.meta.url);

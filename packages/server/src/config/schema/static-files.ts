import { z } from 'zod';
import { flag, text, textMap } from './fields.ts';

const fileName = z.string().regex(/^[^./\\][^/\\]*$/, 'must be the name of a file, such as index.html');
const relativeFile = z
  .string()
  .regex(/^[^./\\][^/\\]*(?:\/[^./\\][^/\\]*)*$/, 'must be a file below the root, such as index.html');
const pattern = z
  .string()
  .regex(/^[/*]/, 'must be a path that begins with /, such as /admin/, or a pattern with *, such as *.pdf');
const htmlPattern = pattern.regex(/\.html?$/, 'must end in .html or .htm: the values are escaped for HTML');
const localPath = z
  .string()
  .regex(/^\/(?![/\\])[^\s\\]*$/, 'must be a path of this server that begins with one slash, such as /login.html');
const headerText = z.string().regex(/^[\x21-\x7e][\x20-\x7e]*$/, 'must be the value of a header, such as no-cache');

const patternHelp = '`/docs/` is that path and all below it; `*` in a pattern stands for any text, also with slashes';

/** The section `staticFiles`. */
export const staticFilesSection = z
  .strictObject({
    enabled: flag(false, 'Serves files for GET and HEAD requests whose path has no endpoint.'),
    root: text('public', 'The folder with the files, relative to the working directory. It has nothing but these.'),
    mounts: textMap('Further folders by the path that they are served below, as in `{ "/docs/": "site/docs" }`.'),
    index: fileName.nullable().default('index.html').describe('The file that is served for a folder; null: none.'),
    spaFallback: relativeFile
      .nullable()
      .default(null)
      .describe(
        'The file of the root that browsers get for paths without a file, as single-page applications need it; null: none. Not for paths below `gateway.urlPathPrefix` or with a file extension.',
      ),
    cacheControl: headerText
      .default('no-cache')
      .describe('The `Cache-Control` of files; HTML always has `no-cache`: browsers ask whether it has changed.'),
    immutable: z
      .array(pattern)
      .default([])
      .describe(
        `Paths of files whose names change with their content, such as \`/assets/\`: browsers cache them for a year. ${patternHelp}.`,
      ),
    precompressed: flag(true, 'Sends `app.js.br` or `app.js.gz` in place of `app.js` to clients that accept it.'),
    dotFiles: z
      .enum(['deny', 'allow'])
      .default('deny')
      .describe('Files and folders whose name begins with a dot. The folder `/.well-known/` is always served.'),
    followSymlinks: flag(false, 'Also serves files outside of the folder that a symbolic link leads to.'),
    authorize: z
      .array(
        z.strictObject({
          path: pattern.describe(`The protected paths: ${patternHelp}.`),
          roles: z.array(z.string().min(1)).default([]).describe('The caller needs one of them; empty: any caller.'),
        }),
      )
      .default([])
      .describe(
        `Paths for signed-in callers, as in \`[{ "path": "/admin/", "roles": ["admin"] }]\`: ${patternHelp}. Without \`roles\`, for every signed-in caller. Upper and lower case are the same.`,
      ),
    loginPage: localPath
      .nullable()
      .default(null)
      .describe(
        'The page that browsers are redirected to when `authorize` needs a caller, with the query `return_to=<path>`; null: they get 401.',
      ),
    templates: z
      .array(htmlPattern)
      .default([])
      .describe(
        'HTML files with placeholders such as `{{user_name}}`, `{{claims.email}}` and `{{antiforgery}}`, as in `["*.html"]`. Values are escaped for text and attributes.',
      ),
  })
  .prefault({})
  .describe('Static files: pages, scripts and images beside the endpoints.');

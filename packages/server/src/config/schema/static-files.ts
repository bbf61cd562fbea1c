import {
  arrayOf,
  matching,
  nonEmptyString,
  nullable,
  option,
  optionalOption,
  optionGroup,
  requiredOption,
} from '@pgway/core/internal';
import { optionalText, textMap } from './fields.ts';
import { section } from './section.ts';

const relativeFile = matching(/^[^./\\][^/\\]*(?:\/[^./\\][^/\\]*)*$/, 'a file below the root, such as index.html');
const pattern = matching(/^[/*]/, 'a path that begins with /, such as /admin/, or a pattern with *, such as *.pdf');
const htmlPattern = matching(
  /^[/*].*\.html?$/,
  'a path or pattern that ends in .html or .htm, such as *.html: the values are escaped for HTML',
);
const localPath = matching(
  /^\/(?![/\\])[^\s\\]*$/,
  'a path of this server that begins with one slash, such as /login.html',
);
const headerText = matching(/^[\x21-\x7e][\x20-\x7e]*$/, 'the value of a header, such as no-cache');

const patternHelp = '`/docs/` is that path and all below it; `*` in a pattern stands for any text, also with slashes';

export interface ProtectedPaths {
  readonly path: string;
  readonly roles?: readonly string[];
}

const protectedPaths = optionGroup<ProtectedPaths>(
  'ProtectedPaths',
  'Paths for signed-in callers.',
  {
    path: requiredOption(pattern, `The protected paths: ${patternHelp}.`),
    roles: optionalOption(arrayOf(nonEmptyString), 'The caller needs one of them; absent or empty: any caller.'),
  },
  { isPartial: true },
);

export const staticFilesSection = section('Static files: pages, scripts and images beside the endpoints.', {
  root: optionalText(
    'The folder with the files, such as `public`, relative to the working directory: GET and HEAD requests whose path has no endpoint get them, and `index.html` for a folder. It has nothing but these. Files whose name begins with a dot are not served, but for the folder `/.well-known/`, nor files outside of the folder that a symbolic link leads to. Null: no files are served.',
  ),
  mounts: textMap('Further folders by the path that they are served below, as in `{ "/docs/": "site/docs" }`.'),
  spaFallback: option(
    nullable(relativeFile),
    null,
    'The file of the root that browsers get for paths without a file, as single-page applications need it; null: none. Not for paths below `gateway.urlPathPrefix` or with a file extension.',
  ),
  cacheControl: option(
    headerText,
    'no-cache',
    'The `Cache-Control` of files; HTML always has `no-cache`: browsers ask whether it has changed.',
  ),
  immutable: option(
    arrayOf(pattern),
    [],
    `Paths of files whose names change with their content, such as \`/assets/\`: browsers cache them for a year. ${patternHelp}.`,
  ),
  authorize: option(
    arrayOf(protectedPaths),
    [],
    `Paths for signed-in callers, as in \`[{ "path": "/admin/", "roles": ["admin"] }]\`: ${patternHelp}. Without \`roles\`, for every signed-in caller. Upper and lower case are the same.`,
  ),
  loginPage: option(
    nullable(localPath),
    null,
    'The page that browsers are redirected to when `authorize` needs a caller, with the query `return_to=<path>`; null: they get 401.',
  ),
  templates: option(
    arrayOf(htmlPattern),
    [],
    'HTML files with placeholders such as `{{user_name}}`, `{{claims.email}}` and `{{antiforgery}}`, as in `["*.html"]`. Values are escaped for text and attributes.',
  ),
});

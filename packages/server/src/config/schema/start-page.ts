import { option } from '@pgway/core/internal';
import { optionalFlag, servedPath } from './fields.ts';
import { section } from './section.ts';

/** The page to try the endpoints in a browser. */
export const startPageSection = section('The start page.', {
  enabled: optionalFlag(
    'Serves a page that lists the endpoints and sends requests to them. Null: unless `authentication.production` applies, and only to browsers on the same machine.',
  ),
  path: option(servedPath, '/', 'The path of the page. Endpoints and static files at `/` take precedence.'),
});

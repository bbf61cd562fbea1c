import { z } from 'zod';
import { servedPath } from './fields.ts';

/** The section `startPage`: the page to try the endpoints in a browser. */
export const startPageSection = z
  .strictObject({
    enabled: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        'Serves a page that lists the endpoints and sends requests to them. Null: unless `authentication.production` applies, and only to browsers on the same machine.',
      ),
    path: servedPath.default('/').describe('The path of the page. Endpoints and static files at `/` take precedence.'),
  })
  .prefault({})
  .describe('The start page.');

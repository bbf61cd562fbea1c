import { z } from 'zod';
import { count, flag, optionalText, servedPath, text } from './fields.ts';

const url = z
  .string()
  .regex(/^https?:\/\/[^\s?#]+$/, 'must be a URL such as https://api.example.org/mcp, without query and fragment');

/** The section `mcp`: endpoints as tools for language models. */
export const mcpSection = z
  .strictObject({
    path: servedPath
      .nullable()
      .default(null)
      .describe(
        'The path of the Model Context Protocol (Streamable HTTP), such as `/mcp`: endpoints are tools that language models can call. Null: it is not served.',
      ),
    include: z
      .enum(['marked', 'readOnly'])
      .default('marked')
      .describe(
        'The endpoints that are tools: those whose comment has `mcp` (`marked`), or these and all that only read: stable and immutable functions, selects from tables (`readOnly`).',
      ),
    name: text('pgway', 'The name of the server, which clients show.'),
    instructions: optionalText('What a language model should know about all tools. Null: nothing.'),
    requireSignIn: flag(
      false,
      'Whether every request needs a signed-in caller. Otherwise callers who are not signed in get the tools that they may call, and 401 if there is none.',
    ),
    pageSize: count(100, 'Maximum number of tools in one page of the list.', 1000),
    maxResultSize: z
      .int()
      .min(1024)
      .max(67_108_864)
      .default(262_144)
      .describe('Maximum bytes of the result of a call; a larger one is an error that names the limit.'),
    resource: url
      .nullable()
      .default(null)
      .describe(
        'The URL of `path` as clients know it, such as `https://api.example.org/mcp`: the identifier of the resource in OAuth. Needed for `authorizationServers`.',
      ),
    authorizationServers: z
      .array(url)
      .default([])
      .describe(
        'The issuers whose tokens the gateway accepts (`jwt`), such as `https://login.example.org`. Clients find them in the metadata of the protected resource (RFC 9728), and sign in there.',
      ),
  })
  .prefault({})
  .describe('Tools for language models (Model Context Protocol).');

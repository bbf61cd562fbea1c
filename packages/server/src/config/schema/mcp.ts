import { arrayOf, integer, matching, nullable, oneOf, option } from '@pgway/core/internal';
import { flag, optionalPath, optionalText } from './fields.ts';
import { section } from './section.ts';

const url = matching(/^https?:\/\/[^\s?#]+$/, 'a URL such as https://api.example.org/mcp, without query and fragment');

/** Endpoints as tools for language models. */
export const mcpSection = section('Tools for language models (Model Context Protocol).', {
  path: optionalPath(
    'The path of the Model Context Protocol (Streamable HTTP), such as `/mcp`: endpoints are tools that language models can call. Null: it is not served.',
  ),
  include: option(
    oneOf('marked', 'readOnly'),
    'marked',
    'The endpoints that are tools: those whose comment has `mcp` (`marked`), or these and all that only read: stable and immutable functions, selects from tables (`readOnly`).',
  ),
  instructions: optionalText('What a language model should know about all tools. Null: nothing.'),
  requireSignIn: flag(
    false,
    'Whether every request needs a signed-in caller. Otherwise callers who are not signed in get the tools that they may call, and 401 if there is none.',
  ),
  maxResultSize: option(
    integer({ min: 1024, max: 67_108_864 }),
    262_144,
    'Maximum bytes of the result of a call; a larger one is an error that names the limit.',
  ),
  resource: option(
    nullable(url),
    null,
    'The URL of `path` as clients know it, such as `https://api.example.org/mcp`: the identifier of the resource in OAuth. Needed for `authorizationServers`.',
  ),
  authorizationServers: option(
    arrayOf(url),
    [],
    'The issuers whose tokens the gateway accepts (`jwt`), such as `https://login.example.org`. Clients find them in the metadata of the protected resource (RFC 9728), and sign in there.',
  ),
});

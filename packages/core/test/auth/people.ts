import { pbkdf2Sync } from 'node:crypto';

const salt = Buffer.from('0123456789abcdef');

/** Computed with the primitive itself, because hashes may come from other implementations. */
function hashed(rounds: number): string {
  return Buffer.concat([salt, pbkdf2Sync('secret', salt, rounds, 32, 'sha256')]).toString('base64');
}

/** The password of all users is `secret`. This hash is for the fast hasher of `startGateway` and `useGateway`. */
export const hashOfSecret: string = hashed(1000);

/** The same password for the default hasher. */
export const defaultHashOfSecret: string = hashed(600_000);

/** Users, a login routine of each kind, and routines that return the caller. */
export const people = `
  create table person (id int, name text, roles text[], hash text, born date);
  insert into person values (7, 'ada', '{admin,"a b"}', '${hashOfSecret}', '1815-12-10'), (8, 'bob', '{}', '${hashOfSecret}', null);

  create function login(_user text, _password text) returns table (id int, name text, roles text[], hash text)
  language sql as $$ select id, name, roles, hash from person where name = _user $$;
  comment on function login is 'HTTP
  login';

  create function logout() returns void language sql as $$ $$;
  comment on function logout is 'HTTP
  logout';

  create function who(_user_id text, _user_name text, _user_roles text[], _user_claims json, _ip_address text)
  returns json language sql stable as $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function who is 'HTTP
  user_parameters';

  create function context() returns text[] language sql stable as $$ select array[
    current_setting('request.user_id', true), current_setting('request.user_name', true),
    current_setting('request.user_roles', true), current_setting('request.ip_address', true), current_user::text] $$;
  comment on function context is 'HTTP
  user_context';

  create function for_admins() returns text language sql as $$ select 'admin' $$;
  comment on function for_admins is 'HTTP
  authorize Admin, owner';

  create function for_members() returns text language sql as $$ select 'member' $$;
  comment on function for_members is 'HTTP
  authorize';
`;

/** The headers that a browser sends for a same-origin page. */
export const ownPage = { 'sec-fetch-site': 'same-origin' };

/** Converts the `Set-Cookie` headers of a response to a `Cookie` header. */
export function cookieOf(answer: { readonly headers: Headers }): string {
  return answer.headers
    .getSetCookie()
    .map((line) => line.slice(0, line.indexOf(';')))
    .join('; ');
}

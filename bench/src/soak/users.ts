/** The database roles of a run: that of the gateway, and those of callers. */
export interface Roles {
  readonly gateway: string;
  readonly reader: string;
  readonly writer: string;
  readonly admin: string;
  readonly anonymous: string;
}

/** A caller; anonymous without a token. */
export interface User {
  readonly id: string | null;
  readonly role: string;
  readonly token: string | null;
}

export function roleNames(suffix: string): Roles {
  const name = (role: string): string => `soak_${role}_${suffix}`;
  return {
    gateway: name('gateway'),
    reader: name('reader'),
    writer: name('writer'),
    admin: name('admin'),
    anonymous: name('anonymous'),
  };
}

/** Logs in through the gateway and returns the user with an access token. */
export async function login(origin: string, id: string, role: string): Promise<User> {
  const response = await fetch(`${origin}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userId: id, role }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the login of ${id} failed with ${response.status}: ${text}`);
  const { access_token: token } = JSON.parse(text) as { readonly access_token: string };
  return { id, role, token };
}

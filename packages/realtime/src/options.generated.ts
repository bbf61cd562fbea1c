// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Row changes, broadcasts and presence for clients of Supabase's Realtime. */
export interface RealtimeOptions {
  /**
   * The path of the WebSocket, behind which clients write `/websocket`: `/realtime/v1` for `createClient` of
   * `@supabase/supabase-js`. Default `/realtime/v1`.
   */
  readonly path?: string;
  /** Origins of other sites, such as `https://app.example.org`, whose pages may connect. `*`: every site may. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Whether every client that may connect, also an anonymous one, can send and receive broadcasts and presence in
   * channels that are not private. Policies on `realtime.messages` decide about private channels. Default false.
   */
  readonly publicChannels?: boolean;
  /** Maximum number of connections. Default 10,000. */
  readonly maxConnections?: number;
}

/** Requests of the fast path of a server, and connections that it has given to `node:http`. */
export interface FastPathCounts {
  requests: number;
  handOvers: number;
}

/** The methods of requests that endpoints answer, in the order of lists. `OPTIONS` is answered for every path. */
export const requestMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

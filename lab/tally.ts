/** Counts what the lab was asked, for tests: requests by API and route, connections by API. */

export interface Requests {
  /** API name (`eks`, `ec2`, `sts`, `s3`, `sesv2`, `kubernetes/<cluster>`, `kubelet/<cluster>`) → route id (`unknown` for none) → requests. */
  routes: Record<string, Record<string, number>>
  /** API name → connections opened; TLS handshakes where the API is served over HTTPS. */
  connections: Record<string, number>
}

export interface Tally {
  request(api: string, route: string): void
  connection(api: string): void
  requests(): Requests
}

export function createTally(): Tally {
  const counted: Requests = { routes: {}, connections: {} }
  return {
    request(api, route) {
      counted.routes[api] ??= {}
      const routes = counted.routes[api]
      routes[route] = (routes[route] ?? 0) + 1
    },
    connection(api) {
      counted.connections[api] = (counted.connections[api] ?? 0) + 1
    },
    requests: () => structuredClone(counted),
  }
}

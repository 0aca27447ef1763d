/** The same by `@kubernetes/client-node`, used plainly: `client-node.ts KUBECONFIG CONCURRENCY NAME…` */
import { readFileSync } from 'node:fs'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'

const [file = '', concurrency = '1', namesFile = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromFile(file)
const api = config.makeApiClient(CoreV1Api)
const names: string[] = JSON.parse(readFileSync(namesFile, 'utf8'))

let next = 0
async function readOn(): Promise<void> {
  for (let name = names[next++]; name !== undefined; name = names[next++])
    await Promise.all([
      api.connectGetNodeProxyWithPath({ name, path: 'configz' }),
      api.connectGetNodeProxyWithPath({ name, path: 'stats/summary' }),
      api.listPodForAllNamespaces({
        fieldSelector: `spec.nodeName=${name}`,
        resourceVersion: '0',
        limit: 500,
      }),
    ])
}
await Promise.all(Array.from({ length: Number(concurrency) }, readOn))

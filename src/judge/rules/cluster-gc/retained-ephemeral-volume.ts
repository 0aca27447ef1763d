import { hoursBefore } from '#judge/example-cluster.ts'
import { byNamespace, named, oldest } from '#judge/garbage.ts'
import { kubectl, said } from '#judge/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { byText, counted } from '#judge/text.ts'

const none = { released: [], held: [] }

export const retainedEphemeralVolume = clusterRule({
  id: 'retained-ephemeral-volume',
  severity: 'medium',
  needs: ['volumes'],
  docs: {
    title: 'Ephemeral volumes are made of a storage class that keeps them',
    why: 'The claim of a generic ephemeral volume goes with its pod. Where its StorageClass says Retain, the volume and its disk stay: every pod that comes and goes leaves one behind.',
    fix: 'Let the ephemeral volume name a StorageClass whose reclaimPolicy is Delete.',
    sources: ['pkg/controller/volume/ephemeral/controller.go handleVolume', 'pkg/apis/storage/v1/defaults.go SetDefaults_StorageClass'],
  },
  examples: {
    bad: {
      volumes: {
        ...none,
        retainedEphemeral: [{ namespace: 'ci', name: 'build-1-scratch', storageClass: 'keep', createdMs: hoursBefore(3) }],
      },
    },
    good: { volumes: { ...none, retainedEphemeral: [] } },
  },

  *judge({ at, volumes: { retainedEphemeral } }) {
    for (const [subject, found] of byNamespace(retainedEphemeral)) {
      const classes = [...Map.groupBy(found, ({ storageClass }) => storageClass)].toSorted(([a], [b]) => byText(a, b))
      yield {
        subject,
        count: found.length,
        noun: 'claim of a pod',
        consequence: `When ${found.length === 1 ? 'its pod goes' : 'their pods go'}, the ${counted(found.length, 'ephemeral volume')} of ${subject.name} ${found.length === 1 ? 'stays' : 'stay'}, and so does every one after ${found.length === 1 ? 'it' : 'them'}.`,
        evidence: [
          ...classes.slice(0, 5).map(([name, { length }]) => ({
            what: `StorageClass ${name}, reclaimPolicy Retain`,
            value: counted(length, 'claim'),
            reasonCount: length,
          })),
          ...oldest(
            found.map(({ createdMs }) => createdMs),
            Date.parse(at),
          ),
          { what: 'claims', value: named(found) },
        ],
        commands: classes.slice(0, 1).map(([name]) => kubectl('get', 'storageclass', said(name), '-o', 'yaml')),
      }
    }
  },
})

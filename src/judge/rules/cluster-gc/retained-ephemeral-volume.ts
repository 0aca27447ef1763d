import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byNamespace, named, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import { byText } from '#model/text-order.ts'

const none = { released: [], held: [] }

export const retainedEphemeralVolume = clusterRule({
  id: 'retained-ephemeral-volume',
  severity: 'medium',
  needs: ['volumes'],
  docs: {
    title: 'Ephemeral volumes outlive their pods',
    why: 'The claim of a generic ephemeral volume goes with its pod. A volume has its reclaim policy from its StorageClass, or from who changed it since; where that is Retain, volume and disk stay. Of a class that says so every pod that comes and goes leaves one behind.',
    fix: 'Let the ephemeral volume name a StorageClass whose reclaimPolicy is Delete. Where only the volume says Retain, set its persistentVolumeReclaimPolicy back, unless somebody wants the data.',
    sources: [
      'pkg/controller/volume/ephemeral/controller.go handleVolume',
      'pkg/apis/storage/v1/defaults.go SetDefaults_StorageClass',
      'pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume',
    ],
  },
  examples: {
    bad: {
      volumes: {
        ...none,
        retainedEphemeral: [
          {
            ...{
              namespace: 'ci',
              name: 'build-1-scratch',
              storageClass: 'keep',
              volume: 'pvc-7f2e',
              isOfClass: true,
            },
            createdMs: hoursBefore(3),
          },
        ],
      },
    },
    good: { volumes: { ...none, retainedEphemeral: [] } },
  },

  *judge({ at, volumes: { retainedEphemeral } }) {
    for (const [subject, found] of byNamespace(retainedEphemeral)) {
      const ofClass = found.filter(({ isOfClass }) => isOfClass)
      const others = found.filter(({ isOfClass }) => !isOfClass)
      const classes = [...Map.groupBy(ofClass, ({ storageClass }) => storageClass)].toSorted(
        ([a], [b]) => byText(a, b),
      )
      const stay = `${counted(found.length, 'ephemeral volume')} of ${subject.name} ${found.length === 1 ? 'stays' : 'stay'}`
      yield {
        subject,
        count: found.length,
        noun: 'claim of a pod',
        consequence: `When ${found.length === 1 ? 'its pod goes' : 'their pods go'}, the ${stay}${others.length === 0 ? `, and so does every one after ${found.length === 1 ? 'it' : 'them'}` : ''}.`,
        evidence: [
          ...classes
            .slice(0, 5)
            .map(([name, { length }]) => ({
              kind: 'object' as const,
              what: `StorageClass ${name}, reclaimPolicy Retain`,
              value: counted(length, 'claim'),
              reasonCount: length,
            })),
          ...(others.length === 0
            ? []
            : [
                {
                  kind: 'object' as const,
                  what: 'the volume says Retain, its class does not',
                  value: counted(others.length, 'claim'),
                  reasonCount: others.length,
                },
              ]),
          ...oldest(
            found.map(({ createdMs }) => createdMs),
            Date.parse(at),
          ),
          line('object', 'claims', named(found)),
        ],
        commands: [
          ...classes
            .slice(0, 1)
            .map(([name]) => kubectl('get', 'storageclass', said(name), '-o', 'yaml')),
          ...others
            .slice(0, 1)
            .flatMap(({ volume }) =>
              volume === null ? [] : [kubectl('get', 'pv', said(volume), '-o', 'yaml')],
            ),
        ],
      }
    }
  },
})

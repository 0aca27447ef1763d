import type { RawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { configzOf, LoadError, loadConfigFile } from '#replay/configuration/configuration-file.ts'
import type { Family } from './family.ts'

export const kubeletDefaults: Family<RawObject> = {
  name: 'kubelet-defaults',
  answer(input, version) {
    try {
      const configuration = loadConfigFile(input, {
        kubeletVersion: version,
        operatingSystem: 'linux',
      })
      return { ok: true, kubeletconfig: configzOf(configuration, featuresOf(version)) }
    } catch (error) {
      if (!(error instanceof LoadError)) throw error
      return { ok: false, error: error.message }
    }
  },
}

/** The replay's validation of a kubelet configuration, as the texts that upstream prints. */

import type { RawObject } from '#base/raw-object.ts'
import type { Refusal } from '#model/kubelet/refusal.ts'
import * as validation from '#replay/configuration/config-validation.ts'

const messageOf = (refusal: Refusal | null): string | null => refusal?.message ?? null

export const validationErrors = (
  ...given: Parameters<typeof validation.validationErrors>
): string[] => validation.validationErrors(...given).map(({ message }) => message)

export function validateKubeletConfiguration(raw: RawObject, kubeletVersion: string | null) {
  const verdict = validation.validateKubeletConfiguration(raw, kubeletVersion)
  const { loadError, errors, startup } = verdict
  return {
    loadError: messageOf(loadError),
    errors: errors?.map(({ message }) => message) ?? null,
    startup:
      startup &&
      Object.fromEntries(Object.entries(startup).map(([part, one]) => [part, messageOf(one)])),
  }
}

/**
 * Whether a file declares itself a KubeletConfiguration.
 *
 * Replays       apimachinery/pkg/runtime  scheme.go New, serializer/json/meta.go Interpret, serializer/json/json.go Decode;  schema.ParseGroupVersion
 * Read at       1.29 to 1.37; the scheme's name is its line in pkg/kubelet/apis/config/scheme/scheme.go
 * Left out      the file's own spacing in the error; other kinds that the kubelet's scheme knows
 */
import { goQuote, jsonText } from '#base/go/go-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import { kindOf } from './configuration-decoder.ts'

export const kubeletConfigurationKind = {
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
} as const

/** Why the file could not be decoded, in upstream's words. Null: it could, whatever its kind. */
export function untypedError(content: RawObject, isVersionNeeded: boolean): string | null {
  const { apiVersion = '', kind = '' } = content
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (value === null || typeof value === 'string') continue
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${kindOf(value)} into Go struct field .${name} of type string`
  }
  if (String(apiVersion ?? '').split('/').length > 2)
    return `unexpected GroupVersion string: ${apiVersion}`
  if (!kind) return `Object 'Kind' is missing in '${jsonText(content)}'`
  return isVersionNeeded && !apiVersion
    ? `Object 'apiVersion' is missing in '${jsonText(content)}'`
    : null
}

export const isKubeletConfiguration = ({ apiVersion, kind }: RawObject): boolean =>
  apiVersion === kubeletConfigurationKind.apiVersion && kind === kubeletConfigurationKind.kind

/** The decoder's error for another kind, or for no kind. Null: the kind is right. */
export function kindError(content: RawObject): string | null {
  const error = untypedError(content, true)
  if (error !== null || isKubeletConfiguration(content)) return error
  const { apiVersion, kind } = content
  const scheme = 'k8s.io/kubernetes/pkg/kubelet/apis/config/scheme/scheme.go:33'
  return `no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))} in scheme ${goQuote(scheme)}`
}

/** The networks from which an API server's endpoint can be reached. Source: EKS API reference, VpcConfigResponse. */
import { isRawObject, type RawObject } from '#base/raw-object.ts'

/** Endpoint access as EKS reports it, to append to a sentence about an endpoint that did not answer. Empty: the endpoint is public. */
export function endpointAccess(eks: RawObject | null | undefined): string {
  const config =
    isRawObject(eks) && isRawObject(eks.resourcesVpcConfig) ? eks.resourcesVpcConfig : {}
  if (config.endpointPublicAccess === false)
    return '. The endpoint is private: only its VPC, and what is routed to it, can reach it on port 443'
  const cidrs = Array.isArray(config.publicAccessCidrs) ? config.publicAccessCidrs.map(String) : []
  return cidrs.length > 0 && !cidrs.includes('0.0.0.0/0')
    ? `. It is open to ${cidrs.slice(0, 10).join(', ')} only: is this machine's address there?`
    : ''
}

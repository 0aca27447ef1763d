/** EC2 as an auditor reads it: ec2Query, Version 2016-11-15. Source: the service model `ec2`, and the EC2 API reference (actions, error codes). */
import { type Api, type LabRequest, Refusal, type Reply, type Route } from '#lab/api.ts'
import { type Caller, type CredentialProblem, checkAuthorization } from '#lab/credentials.ts'
import type { LaunchTemplateScenario } from '#lab/scenarios/scenario.ts'
import { labAccount, type World } from '#lab/world.ts'
import { type Elements, elements } from '#lab/xml.ts'
import {
  filtered,
  instancesOf,
  instancesWanted,
  nodeVolumesOf,
  volumesOf,
} from './ec2/cluster-resources.ts'

const version = '2016-11-15'
const namespace = `http://ec2.amazonaws.com/doc/${version}/`
const versionsMax = 200
const filtersMax = 10
/** Source: EC2 user guide, filters: at most 200 values. */
const filterValuesMax = 200
const pageMin = 5

const notValid = 'AWS was not able to validate the provided access credentials'
const problems: Record<CredentialProblem, [status: number, code: string, message: string]> = {
  missing: [400, 'MissingAuthenticationToken', 'Request is missing Authentication Token'],
  malformed: [
    400,
    'IncompleteSignature',
    'Authorization header is not of the form that Signature Version 4 has.',
  ],
  'unknown-key': [401, 'AuthFailure', notValid],
  'expired-session': [400, 'RequestExpired', 'Request has expired.'],
  clock: [401, 'AuthFailure', notValid],
  signature: [401, 'AuthFailure', notValid],
}

/** One action, with what it takes beside itself, and its answer's fields without the request's id. */
type Describe = [
  action: string,
  parameters: readonly string[],
  answer: (world: World, caller: Caller, parameters: URLSearchParams) => Elements,
]

const paging = ['MaxResults', 'NextToken']
const filters = Array.from({ length: filtersMax }, (_, index) => `Filter.${index + 1}`).flatMap(
  filter => [
    `${filter}.Name`,
    ...Array.from({ length: filterValuesMax }, (_, index) => `${filter}.Value.${index + 1}`),
  ],
)

const describes: readonly Describe[] = [
  [
    'DescribeLaunchTemplateVersions',
    [
      'LaunchTemplateId',
      'LaunchTemplateName',
      ...Array.from({ length: versionsMax }, (_, index) => `LaunchTemplateVersion.${index + 1}`),
    ],
    versionsReply,
  ],
  [
    'DescribeVolumes',
    filters,
    (world, caller, parameters) =>
      listed(
        world,
        parameters,
        'volumeSet',
        filtered(
          [
            ...volumesOf(world, caller),
            ...nodeVolumesOf(world, caller, instancesWanted(parameters)),
          ],
          parameters,
          'status',
        ),
      ),
  ],
  [
    'DescribeInstances',
    filters,
    (world, caller, parameters) => {
      const found = filtered(instancesOf(world, caller), parameters, 'instance-state-name')
      return listed(
        world,
        parameters,
        'reservationSet',
        found.map(instance => ({ instancesSet: { item: instance } })),
      )
    },
  ],
]

export function ec2Api(world: World): Api<Caller> {
  const route = ([action, own, answer]: Describe): Route<Caller> => ({
    id: action,
    match: request => {
      const parameters = form(request)
      const isOne =
        request.method === 'POST' && request.path === '/' && parameters.get('Action') === action
      return isOne && parameters.get('Version') === version ? {} : null
    },
    parameters: ['Action', 'Version', ...paging, ...own],
    answer(request, _, caller) {
      const { denied } = world.ec2
      if (denied === true || (denied !== false && denied.includes(`ec2:${action}`))) {
        const message = `You are not authorized to perform this operation. User: ${caller.principal.arn} is not authorized to perform: ec2:${action} because no identity-based policy allows the ec2:${action} action`
        throw new Refusal(403, 'UnauthorizedOperation', message)
      }
      const fields: Elements = {
        requestId: crypto.randomUUID(),
        ...answer(world, caller, form(request)),
      }
      return xml(
        200,
        `<${action}Response xmlns="${namespace}">${elements(fields)}</${action}Response>`,
      )
    },
  })
  return {
    name: 'ec2',
    routes: describes.map(route),
    parametersOf: form,
    authenticate(request) {
      const caller = checkAuthorization(request, world, 'ec2')
      if (typeof caller === 'string') throw new Refusal(...problems[caller])
      return caller
    },
    error: ({ status, code, message }) =>
      xml(
        status,
        `<Response><Errors><Error>${elements({ Code: code, Message: message })}</Error></Errors>${elements({ RequestID: crypto.randomUUID() })}</Response>`,
      ),
  }
}

function versionsReply(world: World, caller: Caller, parameters: URLSearchParams): Elements {
  const template = findTemplate(world, caller, parameters)
  const asked = [...parameters]
    .filter(([name]) => name.startsWith('LaunchTemplateVersion.'))
    .map(([, value]) => value)
  const found =
    asked.length === 0 ? template.versions : asked.map(which => findVersion(template, which))
  const items = [...new Set(found)].map(
    ({ number, userData }): Elements => ({
      launchTemplateId: template.id,
      launchTemplateName: template.name,
      versionNumber: String(number),
      createTime: '2026-03-02T10:00:00.000Z',
      createdBy: `arn:aws:iam::${labAccount}:user/platform`,
      defaultVersion: String(number === defaultOf(template)),
      launchTemplateData: {
        ...(userData !== undefined && { userData }),
        metadataOptions: { httpTokens: 'required' },
      },
    }),
  )
  return page(world, parameters, 'launchTemplateVersionSet', items, versionsMax)
}

/** Source: EC2 API reference, MaxResults of DescribeVolumes and DescribeInstances: 5 to 1,000. */
function listed(
  world: World,
  parameters: URLSearchParams,
  set: string,
  items: readonly Elements[],
): Elements {
  const limit = Number(parameters.get('MaxResults') ?? 1000)
  if (!(limit >= pageMin && limit <= 1000))
    throw new Refusal(
      400,
      'InvalidParameterValue',
      `Value ( ${limit} ) for parameter maxResults is invalid.`,
    )
  return page(world, parameters, set, items, 1000)
}

function page(
  { ec2 }: World,
  parameters: URLSearchParams,
  set: string,
  items: readonly Elements[],
  most: number,
): Elements {
  const start = Number(Buffer.from(parameters.get('NextToken') ?? '', 'base64').toString() || 0)
  if (!Number.isInteger(start)) throw new Refusal(400, 'InvalidNextToken', 'The token is not valid')
  const end = start + Math.min(Number(parameters.get('MaxResults') ?? most), ec2.pageSize)
  return {
    [set]: { item: items.slice(start, end) },
    ...(end < items.length && { nextToken: Buffer.from(String(end)).toString('base64') }),
  }
}

function findTemplate(
  world: World,
  { principal, region }: Caller,
  parameters: URLSearchParams,
): LaunchTemplateScenario {
  const id = parameters.get('LaunchTemplateId')
  const name = parameters.get('LaunchTemplateName')
  if ((id === null) === (name === null))
    throw new Refusal(
      400,
      'InvalidParameterCombination',
      'Specify either the launch template ID or the launch template name, not both',
    )
  const isHere = (template: LaunchTemplateScenario) =>
    (template.region ?? world.region) === region &&
    (template.account ?? labAccount) === principal.account
  const template = world.ec2.launchTemplates.find(
    each => isHere(each) && (id === null ? each.name === name : each.id === id),
  )
  if (template) return template
  if (id === null)
    throw new Refusal(
      400,
      'InvalidLaunchTemplateName.NotFoundException',
      'At least one of the launch templates specified in the request does not exist.',
    )
  throw new Refusal(
    400,
    'InvalidLaunchTemplateId.NotFound',
    `The specified launch template, with template ID ${id}, does not exist.`,
  )
}

function findVersion(
  template: LaunchTemplateScenario,
  which: string,
): LaunchTemplateScenario['versions'][number] {
  const latest = Math.max(...template.versions.map(({ number }) => number))
  const stated = which === '$Default' ? defaultOf(template) : Number(which)
  const number = which === '$Latest' ? latest : stated
  const found = template.versions.find(each => each.number === number)
  if (!found)
    throw new Refusal(
      400,
      'InvalidLaunchTemplateId.VersionNotFound',
      `Could not find the specified version ${which} for the launch template with ID ${template.id}.`,
    )
  return found
}

/** The first one, as EC2 has it until somebody says otherwise. */
const defaultOf = ({ defaultVersion, versions }: LaunchTemplateScenario) =>
  defaultVersion ?? versions[0]?.number

const form = (request: LabRequest) => new URLSearchParams(request.body.toString())

const xml = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/xml;charset=UTF-8' },
  body,
})

declare module 'asl-validator' {
  /** JSON Schema and further checks of the Amazon States Language. */
  export default function validate(definition: unknown): { isValid: boolean; errors: unknown[] }
}

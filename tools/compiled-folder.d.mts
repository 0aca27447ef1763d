export function compiledFolder(): string

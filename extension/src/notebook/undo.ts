/**
 * Make what comes next a step of its own in a shared model's undo history. Changes that follow
 * each other quickly are one step otherwise.
 */
export function beginUndoStep(shared: object): void {
  // Every implementation has it, the interfaces do not.
  (shared as { undoManager?: { stopCapturing(): void } | null }).undoManager?.stopCapturing();
}

/**
 * Start a new step in a shared model's undo history. Changes in quick succession would otherwise
 * be a single step.
 */
export function beginUndoStep(shared: object): void {
  // Every implementation has it; the interfaces do not.
  (shared as { undoManager?: { stopCapturing(): void } | null }).undoManager?.stopCapturing();
}

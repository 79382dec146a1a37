import * as React from 'react';

/** Whether an input method takes a key; Safari has ended the composition by then, but tells so. */
export function isComposing(event: React.KeyboardEvent): boolean {
  return event.nativeEvent.isComposing || event.keyCode === 229;
}

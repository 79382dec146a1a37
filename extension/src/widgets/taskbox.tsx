import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isComposing } from '../composing';
import { NO_RECALL, recalled } from '../taskhistory';

/**
 * The task input. At its beginning and end, the arrow keys bring back earlier tasks; from one that
 * was brought back, on its whole first and last line.
 */
export function TaskBox(props: {
  text: string;
  history: ReadonlyArray<string>;
  onChange: (text: string) => void;
  onSubmit: () => void;
  trans: TranslationBundle;
}): React.ReactElement {
  const { history, onChange, onSubmit, text, trans } = props;
  const [recall, setRecall] = React.useState(NO_RECALL);
  React.useEffect(() => setRecall(NO_RECALL), [history]);

  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) {
      return;
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      // Otherwise the notebook would run a cell, too.
      event.stopPropagation();
      onSubmit();
      return;
    }
    // Lines that are wrapped have no end to go by.
    const step = stepOf(event, text !== history[recall.index]);
    const found = step && recalled(history, recall, text, step);
    if (found) {
      event.preventDefault();
      setRecall(found.recall);
      onChange(found.text);
    }
  };

  return (
    <textarea
      className="jp-mod-styled jp-exploracoder-task"
      aria-label={trans.__('Task')}
      aria-describedby="jp-exploracoder-task-help"
      placeholder={trans.__('What should the code do? Say it as you would to a colleague.')}
      rows={4}
      maxLength={20_000}
      value={text}
      onChange={event => onChange(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Back (1) from the beginning, forward (-1) from the end, else nowhere (0). */
function stepOf(event: React.KeyboardEvent<HTMLTextAreaElement>, isOwn: boolean): 1 | -1 | 0 {
  const { selectionEnd, selectionStart, value } = event.currentTarget;
  if (event.altKey || event.shiftKey || selectionStart !== selectionEnd) {
    return 0;
  }
  const isLeavable = (rest: string) => (isOwn ? rest === '' : !rest.includes('\n'));
  if (event.key === 'ArrowUp' && isLeavable(value.slice(0, selectionStart))) {
    return 1;
  }
  if (event.key === 'ArrowDown' && isLeavable(value.slice(selectionEnd))) {
    return -1;
  }
  return 0;
}

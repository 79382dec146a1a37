import * as React from 'react';
import { ITools } from './tools';

/** A place in the source, as a button if the file can be opened. */
export function SourceLink(props: {
  /** As it is shown. */
  place: string;
  file: string | null;
  line: number | null;
  tools: ITools;
}): React.ReactElement {
  const { file, line, tools } = props;
  const place = line ? `${props.place}:${line}` : props.place;
  const open = tools.sourceOpener({ file, line });
  return open ? (
    <button type="button" className="jp-exploracoder-link" onClick={open}>
      {place}
    </button>
  ) : (
    <code>{place}</code>
  );
}

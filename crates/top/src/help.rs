//! What the keys do and what the words mean, on the screen.

use ratatui::text::Line;

const TEXT: &str = "
 1 2 3, tab        exports, clients, connections
 up down pgup pgdn choose a row; its details are below the table
 enter             show the connections of a client
 s S, right left   sort by the next column, or the one before
 r                 reverse the order
 /                 only rows that contain a text; esc: all rows
 p, space          pause the display
 ctrl-l            redraw       ctrl-z  stop for now       q, ctrl-c  end

 IN OUT   bytes of calls and of replies: mostly writes and reads
 WAIT     calls received and not answered
 MEAN P99 from the complete call to its reply handed to the socket
 STOR     the part of that time within the file system
 RTT      the round trip to the client; for a client, the longest of its connections
 BUFFER   bytes in the server's socket buffers; SNDBUF RCVBUF  their max
 WINDOW   what the client may send before it must wait for us
 FLIGHT   sent and not acknowledged; CWND  its max; AGAIN  share retransmitted
 LIMITED  the bottleneck (the manual explains the words);
          idle: it asks for no more, path-full: the network carries what it can

 any key goes back";

/// Its lines.
pub fn lines() -> Vec<Line<'static>> {
    TEXT.lines().map(Line::from).collect()
}

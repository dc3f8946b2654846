//! Opens a listening socket in the network namespace of another process.

use super::ipc;
use super::protocol::Request;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A message must hold at least one byte for a socket to travel with it.
const PAYLOAD: &[u8] = b"listens";

/// Opens the socket in a helper process, since a process that has entered a tool's namespaces cannot return.
pub(super) fn listen_in_namespace(process: i32, port: u16) -> io::Result<TcpListener> {
    let (mut child, ours) = ipc::spawn_self()?;
    let listener = ours.send(&Request::Listen { process, port }).and_then(|()| receive(&ours.0));
    child.wait()?;
    listener
}

/// The helper process: enters the namespaces and sends back a listening socket, or an error message without one.
pub(super) fn send_listener(process: i32, port: u16, mut channel: &UnixStream) -> io::Result<()> {
    match enter(process).and_then(|()| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))) {
        Ok(listener) => {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut message = SendAncillaryBuffer::new(&mut space);
            let sockets = [listener.as_fd()];
            message.push(SendAncillaryMessage::ScmRights(&sockets));
            rustix::net::sendmsg(channel, &[IoSlice::new(PAYLOAD)], &mut message, SendFlags::empty())?;
            Ok(())
        }
        Err(error) => channel.write_all(error.to_string().as_bytes()),
    }
}

fn enter(process: i32) -> io::Result<()> {
    // Both are opened before the first is entered, where the second may not be readable.
    let user = std::fs::File::open(format!("/proc/{process}/ns/user"))?;
    let network = std::fs::File::open(format!("/proc/{process}/ns/net"))?;
    let enter_network = || move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network));
    // Root may enter at once. Other users may after entering the user namespace they made, which owns the network.
    match enter_network() {
        Err(rustix::io::Errno::PERM) => {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
            Ok(enter_network()?)
        }
        entered => Ok(entered?),
    }
}

fn receive(channel: &UnixStream) -> io::Result<TcpListener> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut text = vec![0; 1024];
    let received =
        rustix::net::recvmsg(channel, &mut [IoSliceMut::new(&mut text)], &mut message, RecvFlags::CMSG_CLOEXEC)?;
    text.truncate(received.bytes);
    let mut sockets = message.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
        _ => None,
    });
    let socket = sockets.next().and_then(|mut sockets| sockets.next());
    socket.map(TcpListener::from).ok_or_else(|| io::Error::other(String::from_utf8_lossy(&text).into_owned()))
}

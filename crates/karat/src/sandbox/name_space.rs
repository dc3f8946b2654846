//! A socket that listens in the network name space of another process.

use super::channel;
use super::job::this_executable;
use super::order::Order;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;

/// What is sent along with a socket.
const LISTENS: &[u8] = b"listens";

/// A socket in the network name space of `process`. Another process is started to make it: who has entered the name spaces of a
/// tool cannot come back.
pub(super) fn listen_within(process: i32, port: u16) -> Result<TcpListener, String> {
    let ask = || -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
        let (ours, theirs) = channel::pair()?;
        let mut visitor = Command::new(this_executable()?);
        visitor.args(std::env::args_os().skip(1)).env_clear().stdin(theirs);
        let mut child = visitor.spawn()?;
        drop(visitor);
        let answer = channel::send(ours.as_fd(), &Order::Listen { process, port }).and_then(|()| receive(ours.as_fd()));
        child.wait()?;
        answer
    };
    match ask() {
        Ok((_, Some(socket))) => Ok(TcpListener::from(socket)),
        Ok((why, None)) => Err(String::from_utf8_lossy(&why).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Enters the name spaces of a process, and sends back a socket that listens there, or why there is none.
pub(super) fn visit(process: i32, port: u16, channel: BorrowedFd<'_>) -> io::Result<()> {
    match enter(process).and_then(|()| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))) {
        Ok(listener) => {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut message = SendAncillaryBuffer::new(&mut space);
            let sockets = [listener.as_fd()];
            message.push(SendAncillaryMessage::ScmRights(&sockets));
            rustix::net::sendmsg(channel, &[IoSlice::new(LISTENS)], &mut message, SendFlags::empty())?;
            Ok(())
        }
        Err(error) => channel::send_bytes(channel, error.to_string().as_bytes()),
    }
}

fn enter(process: i32) -> io::Result<()> {
    let name_space = |kind: &str| std::fs::File::open(format!("/proc/{process}/ns/{kind}"));
    // Both are opened before the first is entered, in which the second may not be opened.
    let (user, network) = (name_space("user")?, name_space("net")?);
    let enter_network = || move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network));
    // Root has the right to enter. Everybody else has it as who made the user namespace that the network belongs to.
    match enter_network() {
        Err(rustix::io::Errno::PERM) => {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
            Ok(enter_network()?)
        }
        entered => Ok(entered?),
    }
}

fn receive(channel: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
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
    Ok((text, sockets.next().and_then(|mut sockets| sockets.next())))
}

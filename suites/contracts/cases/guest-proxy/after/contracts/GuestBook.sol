// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// The guest book of a museum, first version. Guests sign with a donation; the curator takes the donations out.
contract GuestBook {
    address public lastGuest;
    uint256 public count;
    address public curator;
    mapping(uint256 => bytes32) public lines;
    mapping(address => uint256) public donatedBy;

    event Signed(address indexed guest, uint256 indexed number, bytes32 line);

    function start(address curator_) external {
        require(curator == address(0) && curator_ != address(0), "already started");
        curator = curator_;
    }

    function sign(bytes32 line) external payable {
        require(line != 0, "nothing written");
        lines[count] = line;
        emit Signed(msg.sender, count, line);
        count += 1;
        lastGuest = msg.sender;
        donatedBy[msg.sender] += msg.value;
    }

    function takeDonations() external {
        require(msg.sender == curator, "only the curator");
        (bool ok, ) = payable(curator).call{value: address(this).balance}("");
        require(ok, "payment refused");
    }
}
